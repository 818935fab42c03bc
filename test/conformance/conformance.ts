// `npm run conformance [-- provider ...]`: each kind of provider against servers that misbehave, judged by the sink. The last line
// is JSON: {"cases", "failed", "doubled"}. Exit code 1 when one of the last two is not 0.
import { spawnSinks } from '../support/sinks/api-sink.ts';
import { reportOf, totalsOf } from './report.ts';
import { allCases, runCases } from './run-suite.ts';

const wanted = process.argv.slice(2);
const sinks = await spawnSinks();
try {
  const cases = allCases(() => sinks).filter(({ stand }) => wanted.length === 0 || wanted.includes(stand.name));
  const results = await runCases(cases);
  const totals = totalsOf(results);
  console.log(reportOf(results));
  for (const stray of await sinks.api.strays()) console.log(`a request to no path of any vendor: ${stray}`);
  console.log(JSON.stringify(totals));
  process.exitCode = cases.length > 0 && totals.failed === 0 && totals.doubled === 0 ? 0 : 1;
} finally {
  await sinks.stop();
}
