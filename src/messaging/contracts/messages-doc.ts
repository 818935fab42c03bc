import { deadLetterHeaders, deadLetterReasons } from '../dead-letter-reason.ts';
import { DEFAULT_TOPIC_PREFIX, TOPIC_NAMES, topicAddress, topicOf } from '../topics.ts';
import type { Topic } from '../topics.ts';
import type { Contract } from './contract.ts';
import { fieldTable } from './field-table.ts';
import { jsonSchemaOf } from './json-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { envelopeSection, rulesSection } from './messages-doc-prose.ts';
import { contractsOfTopic } from './registry.ts';

/** The whole of docs/messages.md, made from the topics and contracts alone. */
export function messagesDoc(): string {
  const topics = TOPIC_NAMES.map((name) => topicOf(name));
  const parts = [
    '# Messages',
    '<!-- Generated: node src/messaging/contracts/write-messages-doc.ts -->',
    'What goes over Kafka, as this version validates it. Peers *submit, request, grant, report*; Einmal states what *is*.',
    topicTable(topics),
    envelopeSection,
    rulesSection,
    ...topics.filter((topic) => topic.name !== 'dead-letters').flatMap((topic) => topicSection(topic)),
    deadLetterSection(),
  ];
  return `${parts.join('\n\n')}\n`;
}

function topicTable(topics: readonly Topic[]): string {
  const rows = topics.map((topic) => {
    const days = Number(topic.config['retention.ms']) / 86_400_000;
    return `| \`${address(topic)}\` | ${topic.direction} | ${topic.keyShape} | ${days} days | ${topic.description} |`;
  });
  return [
    `## Topics\n\nThe prefix \`${DEFAULT_TOPIC_PREFIX}\` is configurable. A topic that Einmal creates has \`cleanup.policy=delete\` and the retention below.\n`,
    '| topic | direction | Kafka key | retention | what |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function topicSection(topic: Topic): readonly string[] {
  return [
    `## ${address(topic)}`,
    `${topic.description} ${topic.direction === 'consumed' ? 'Consumed' : 'Produced'}; Kafka key: ${topic.keyShape}.`,
    ...contractsOfTopic(topic.name).flatMap((contract) => contractSection(contract)),
  ];
}

function contractSection(contract: Contract): readonly string[] {
  return [
    `### ${contract.type}`,
    contract.description,
    ...formsOf(jsonSchemaOf(contract)).flatMap((form) => [...formTitle(form), fieldTable(form)]),
    `Example, with the key \`acme/${contract.entityKey(contract.example)}\`:`,
    `\`\`\`json\n${JSON.stringify(contract.example, null, 2)}\n\`\`\``,
  ];
}

/** A union has a table for each of its forms. */
function formsOf(schema: JsonSchema): readonly JsonSchema[] {
  return schema.oneOf ?? schema.anyOf ?? [schema];
}

function formTitle(form: JsonSchema): readonly string[] {
  const kind = form.properties?.['kind']?.const;
  return typeof kind === 'string' ? [`With \`kind\` \`${kind}\`:`] : [];
}

function deadLetterSection(): string {
  const topic = topicOf('dead-letters');
  return [
    `## ${address(topic)}`,
    '',
    `${topic.description} Key, value and original headers are kept byte for byte; these headers are added, as text:`,
    '',
    '| header | what |',
    '| --- | --- |',
    `| \`${deadLetterHeaders.reason}\` | one of the reasons below |`,
    `| \`${deadLetterHeaders.exception}\` | the rule or error in words, without addresses and values |`,
    `| \`${deadLetterHeaders.topic}\`, \`${deadLetterHeaders.partition}\`, \`${deadLetterHeaders.offset}\`, \`${deadLetterHeaders.timestamp}\` | where and when the record was read |`,
    `| \`${deadLetterHeaders.consumer}\` | the consumer that refused it |`,
    `| \`${deadLetterHeaders.attempts}\` | how often the handler was tried |`,
    '',
    '| reason | in words |',
    '| --- | --- |',
    ...Object.entries(deadLetterReasons).map(([reason, words]) => `| \`${reason}\` | ${words} |`),
  ].join('\n');
}

function address(topic: Topic): string {
  return topicAddress(DEFAULT_TOPIC_PREFIX, topic.name);
}
