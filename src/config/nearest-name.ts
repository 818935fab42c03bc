import { distance } from 'fastest-levenshtein';

/** The known name that is most like `name`, or null when none is near: at most a third of its letters, at least 2, differ. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const wanted = plain(name);
  let nearest: string | null = null;
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const differs = distance(wanted, plain(candidate));
    if (differs >= least) continue;
    least = differs;
    nearest = candidate;
  }
  return nearest;
}

/** Nobody means another key by another case or by dashes. The cut bounds the quadratic comparison. */
function plain(name: string): string {
  return name.slice(0, 100).toLowerCase().replaceAll(/[-_ ]/g, '');
}
