import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Labels with closed sets of values where the domain closes them, so that a typing error cannot open a new time series. */
export type Labels = Readonly<Record<string, string>>;

export interface CounterOf<L extends Labels> {
  inc(labels: L, by?: number): void;
}
export interface GaugeOf<L extends Labels> {
  set(labels: L, value: number): void;
  /** Forgets one series (a partition that moved away), so that its last value does not stay for ever. */
  remove(labels: L): void;
  /** Forgets all series: before a full set of new values. */
  reset(): void;
}
export interface HistogramOf<L extends Labels> {
  observe(labels: L, value: number): void;
}

export interface Metric<L extends Labels> {
  readonly name: `einmal_${string}`;
  readonly help: string;
  readonly labels: readonly (keyof L & string)[];
}

export function counter<L extends Labels>(registry: Registry, metric: Metric<L>): CounterOf<L> {
  const inner = new Counter<string>({ ...common(metric), registers: [registry] });
  return { inc: (labels, by = 1) => inner.inc(labels, by) };
}

export function gauge<L extends Labels>(registry: Registry, metric: Metric<L>): GaugeOf<L> {
  const inner = new Gauge<string>({ ...common(metric), registers: [registry] });
  return {
    set: (labels, value) => inner.set(labels, value),
    remove: (labels) => inner.remove(labels),
    reset: () => inner.reset(),
  };
}

export function histogram<L extends Labels>(
  registry: Registry,
  metric: Metric<L>,
  buckets: readonly number[],
): HistogramOf<L> {
  const inner = new Histogram<string>({ ...common(metric), buckets: [...buckets], registers: [registry] });
  return { observe: (labels, value) => inner.observe(labels, value) };
}

function common<L extends Labels>({
  name,
  help,
  labels,
}: Metric<L>): {
  name: string;
  help: string;
  labelNames: string[];
} {
  return { name, help, labelNames: [...labels] };
}
