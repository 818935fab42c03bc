import { readFileSync } from 'node:fs';
import type { DispatchRig } from './dispatch-rig.ts';

/**
 * The plan of a statement whatever its parameters are, as text. The rig's connections plan as the service's do.
 *
 * @param file from `src/`
 */
export async function genericPlan(rig: DispatchRig, file: string): Promise<string> {
  const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8').replaceAll(/--[^\n]*/g, '');
  const order: string[] = [];
  const positional = text.replaceAll(/(?<![:\w]):([a-z_]+)/g, (_, name: string) => {
    return `$${order.includes(name) ? order.indexOf(name) + 1 : order.push(name)}`;
  });
  const plan = await rig.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${positional}`);
  return plan.map((row) => row['QUERY PLAN']).join('\n');
}
