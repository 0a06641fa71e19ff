// The key and the certificate that ./make-certificate has made, from the folder CERTIFICATES (certificates).
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const folder = process.env.CERTIFICATES ?? fileURLToPath(new URL("certificates", import.meta.url));

export const key = readFileSync(`${folder}/key.pem`, "utf8");
export const cert = readFileSync(`${folder}/cert.pem`, "utf8");
