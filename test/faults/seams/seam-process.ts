// Usage: node test/faults/seams/seam-process.ts, and then one line of JSON: {"place", "scenario", "fault"}
// A worker of its own that kills itself at a seam; ends with 0 when it never came there, or was told nothing.
import { createInterface } from 'node:readline';
import '../../support/seams-compiled.ts';

const { runSeamProcess } = await import('./run-seam-process.ts');
for await (const line of createInterface({ input: process.stdin })) await runSeamProcess(line);
