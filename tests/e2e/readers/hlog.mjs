// node hlog.mjs FILE.hlog: what HdrHistogram's own log reader (hdr-histogram-js) makes of it: a line of JSON for each interval, then one of the sum of those
// without a tag, with HdrHistogram's percentile distribution of it in milliseconds.
import { readFileSync } from "node:fs";
import * as hdr from "hdr-histogram-js";

const describe = (histogram) => ({
  tag: histogram.tag === "NO TAG" ? null : histogram.tag ?? null,
  start: histogram.startTimeStampMsec, end: histogram.endTimeStampMsec, count: histogram.totalCount, max: histogram.maxValue,
  p50: histogram.getValueAtPercentile(50), p99: histogram.getValueAtPercentile(99),
});

const reader = new hdr.HistogramLogReader(readFileSync(process.argv[2], "utf8"));
const sum = hdr.build({ bitBucketSize: 64, autoResize: true, lowestDiscernibleValue: 1, highestTrackableValue: 2 ** 47, numberOfSignificantValueDigits: 3 });
for (let histogram = reader.nextIntervalHistogram(); histogram; histogram = reader.nextIntervalHistogram()) {
  const shown = describe(histogram);
  console.log(JSON.stringify(shown));
  if (shown.tag === null) sum.add(histogram);
}
console.log(JSON.stringify({ ...describe(sum), sum: true, distribution: sum.outputPercentileDistribution(5, 1e6) }));
