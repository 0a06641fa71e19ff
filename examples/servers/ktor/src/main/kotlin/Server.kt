// PORT=8080 java -jar target/ktor.jar: hello world and recursive fibonacci with Ktor on Netty.
import io.ktor.http.HttpStatusCode
import io.ktor.server.engine.connector
import io.ktor.server.engine.embeddedServer
import io.ktor.server.netty.Netty
import io.ktor.server.response.respondText
import io.ktor.server.routing.get
import io.ktor.server.routing.routing
import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.runBlocking

fun fibonacci(n: Int): Long = if (n < 2) n.toLong() else fibonacci(n - 1) + fibonacci(n - 2)

val requests = AtomicLong()

fun main() {
    val server = embeddedServer(Netty, configure = {
        connector {
            host = "127.0.0.1"
            port = System.getenv("PORT")?.toInt() ?: 8080
        }
    }) {
        routing {
            for (path in listOf("/", "/hello")) get(path) {
                requests.incrementAndGet()
                call.respondText("hello, world\n")
            }
            get("/fibonacci/{n}") {
                requests.incrementAndGet()
                val n = call.parameters["n"]?.toIntOrNull()
                if (n == null || n !in 0..45) call.respondText("n must be 0 to 45\n", status = HttpStatusCode.BadRequest)
                else call.respondText("${fibonacci(n)}\n")
            }
            get("/requests") { call.respondText("${requests.get()}") }
        }
    }
    server.start()
    println("listening on http://127.0.0.1:${runBlocking { server.engine.resolvedConnectors().first().port }}")
    Thread.currentThread().join()
}
