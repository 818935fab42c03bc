import type { TenantConfig } from '../../config/einmal-config.ts';
import { compileTemplate } from '../../mail/template.ts';
import { storableReason } from '../../messaging/storable-text.ts';
import { stepReference } from '../operation-id.ts';
import type { FrozenStep } from '../steps/frozen-steps.ts';
import { renderStep } from '../steps/render-step.ts';
import { planCall, planEmail, type KindPlan, type OperationRequest } from './plan-effect.ts';

type StepsRequest = Extract<OperationRequest, { kind: 'steps' }>;
type Step = StepsRequest['request']['steps'][number];

/** Checks every step before the first is done, and freezes what the configuration says of each. */
export function planSteps(
  operationId: string,
  { steps }: StepsRequest['request'],
  approval: StepsRequest['approval'],
  tenant: TenantConfig,
  peers: ReadonlySet<string>,
): KindPlan {
  const planned = steps.map((step) => planStep(step, tenant, peers));
  const twice = approval !== undefined && steps[0]?.approval !== undefined;
  const fault =
    planned.find((each) => each.fault !== null)?.fault ??
    earlierOnly(steps) ??
    (twice ? 'request.steps: the first step must not name an approval beside that of the operation' : null);
  const frozen = planned.map(({ step }) => step);
  const [first] = frozen;
  const own = first?.approval;
  // An approval of the whole is of the payload hash; a step's own is of its input.
  const rendered = approval === undefined && own && first ? renderStep(first, {}, new Date(0)) : null;
  return {
    fault: fault ?? (rendered?.ok === false ? storableReason(`request.steps: ${rendered.rule}`) : null),
    provider: first?.provider ?? tenant.provider,
    addressKey: first?.addressKey ?? null,
    approval: approval ?? own ?? null,
    approvalHash: rendered?.ok ? rendered.inputHash : null,
    stepReferences: frozen.map(({ name, version }) => stepReference(operationId, name, version)),
    request: { steps: frozen },
  };
}

function planStep(
  step: Step,
  tenant: TenantConfig,
  peers: ReadonlySet<string>,
): { readonly fault: string | null; readonly step: FrozenStep } {
  const { fault, provider, addressKey, request } =
    step.kind === 'email' ? planEmail(step.request, tenant) : planCall(step.request, tenant);
  const { name, version, kind, approval } = step;
  // A peer is told of an operation, and what it reports is of the operation: it cannot tell steps apart.
  if (peers.has(provider)) {
    const rule = `request.steps.${name}: a peer on Kafka does no steps`;
    return { fault: rule, step: { name, version, kind, request: { ...request }, provider, addressKey } };
  }
  return {
    fault: fault === null ? null : fault.replace(/^request/, `request.steps.${name}.request`),
    step: { name, version, kind, request: { ...request }, ...(approval ? { approval } : {}), provider, addressKey },
  };
}

/** A template that does not parse, or that asks for a step that is not before it, would be found after effects were had. */
function earlierOnly(steps: readonly Step[]): string | null {
  const before = new Set<string>();
  for (const { name, request } of steps) {
    for (const text of textsOf(request)) {
      const parsed = compileTemplate(text, 'strict-plain');
      if (!parsed.ok) return `request.steps.${name}.request: ${parsed.rule}`;
      for (const [, other = ''] of text.matchAll(/\bsteps\.([A-Za-z_]\w*)/g)) {
        if (/\{[{%]/.test(text) && !before.has(other))
          return `request.steps.${name}.request: no step ${other} is before it`;
      }
    }
    before.add(name);
  }
  return null;
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
