// `npm run faults [-- words]`: a fault at every seam of dispatch and resolution, and two workers in every order; with words only
// those scenarios and pairs that have one of them in their name. The last line is JSON: {"seams", "ways", "failed"}. Exit code 1
// when something failed.
import '../../support/seams-compiled.ts';

const { runFaults } = await import('./run-faults.ts');
process.exit((await runFaults(process.argv.slice(2))) ? 0 : 1);
