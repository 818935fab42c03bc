import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import { createMailApi, postJson, receiptAbility, REFERENCE_NAME } from '../mail-api.ts';
import type { Provider } from '../provider.port.ts';
import {
  account,
  acceptedAs,
  ambiguous,
  rejectedMessage,
  throttled,
  type Verdict,
  verdictByStatus,
} from '../verdict.ts';
import { type Answer, jsonOf, textAt } from '../wire/answer.ts';
import { awsSigner } from './aws-signature.ts';

const shapeForm = z.object({ configurationSet: z.string().nullable() });

/** 40 MB after base64, with room for the JSON around it. */
const MAX_BYTES = 41_000_000;

/** Amazon SES v2: no keys and no look-up, so only receipts (event publishing of a configuration set) settle what got lost. */
export function createSesProvider(config: ProviderConfigOf<'ses'>): Provider {
  const baseUrl = config.baseUrl ?? `https://email.${config.region}.amazonaws.com`;
  const { accessKeyId, secretAccessKey, configurationSet } = config;
  return createMailApi(
    { ...config, baseUrl },
    {
      abilities: {
        key: { kind: 'none' },
        lookup: { kind: 'none' },
        // Without a configuration set no event carries our reference.
        receipt: receiptAbility(configurationSet === null ? null : config.receiptWaitSeconds),
        batch: { kind: 'none' },
        limits: { maxBytes: MAX_BYTES },
      },
      shape: { configurationSet },
      shapeForm,
      credential: [accessKeyId, secretAccessKey],
      compose: (mail, shape) =>
        postJson('/v2/email/outbound-emails', {
          FromEmailAddress: mail.parts.from.address,
          Destination: { ToAddresses: [mail.envelope.to] },
          Content: { Raw: { Data: mail.raw().toString('base64') } },
          EmailTags: [{ Name: REFERENCE_NAME, Value: mail.reference }],
          ConfigurationSetName: shape.configurationSet ?? undefined,
        }),
      credentials: awsSigner(config.region, { accessKeyId, secretAccessKey }, baseUrl),
      judge: judgeSes,
    },
  );
}

type Meaning = 'throttled' | 'account' | 'rejected';

/** AWS: an answer that is one of its errors means that nothing was sent. What it does not say by these names is judged by status. */
const ERROR_TYPES: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['TooManyRequestsException', 'throttled'],
  ['ThrottlingException', 'throttled'],
  ['Throttling', 'throttled'],
  ['LimitExceededException', 'account'],
  ['AccountSuspendedException', 'account'],
  ['SendingPausedException', 'account'],
  ['MailFromDomainNotVerifiedException', 'account'],
  // A raw message names nothing but the configuration set.
  ['NotFoundException', 'account'],
  ['AccessDeniedException', 'account'],
  ['UnrecognizedClientException', 'account'],
  ['InvalidClientTokenId', 'account'],
  ['InvalidSignatureException', 'account'],
  ['SignatureDoesNotMatch', 'account'],
  ['IncompleteSignature', 'account'],
  ['MissingAuthenticationTokenException', 'account'],
  ['ExpiredTokenException', 'account'],
  ['RequestExpired', 'account'],
  ['OptInRequired', 'account'],
  ['MessageRejected', 'rejected'],
  ['BadRequestException', 'rejected'],
  ['ValidationException', 'rejected'],
]);

export function judgeSes(answer: Answer): Verdict {
  const json = jsonOf(answer);
  if (answer.status === 200) return acceptedAs(textAt(json, 'MessageId'));
  const words = textAt(json, 'message') ?? textAt(json, 'Message') ?? '';
  const type = errorType(answer, json);
  const said = type === null ? words : `${type}: ${words}`;
  return { ...verdictOfType(answer, type), words: said };
}

function verdictOfType(answer: Answer, type: string | null): Verdict {
  const meaning = type === null ? undefined : ERROR_TYPES.get(type);
  switch (meaning) {
    case 'throttled':
      return throttled(answer);
    case 'account':
      return account;
    case 'rejected':
      return rejectedMessage;
    case undefined:
      return answer.status >= 500 ? ambiguous : verdictByStatus(answer);
  }
}

/** `x-amzn-errortype: Name:http://…` or `__type: namespace#Name`. */
function errorType({ headers }: Answer, json: unknown): string | null {
  const said = headers['x-amzn-errortype'] ?? textAt(json, '__type') ?? textAt(json, 'code');
  return /^(?:[^#:]*#)?([A-Za-z]{1,60})/.exec(said ?? '')?.[1] ?? null;
}
