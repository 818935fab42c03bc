/** What a client must be configured with to be let in. Nothing here opens anything but the sink. */
export const SINK_CREDENTIALS = {
  /** The key or token of all vendors that want one word. */
  apiKey: 'sink-api-key',
  /** Second half where the vendor wants two (Mailjet), and SES's secret key. */
  secret: 'sink-api-secret',
  /** SES. */
  accessKeyId: 'AKIASINKSINKSINK0001',
  region: 'eu-central-1',
  /** Mailgun's sending domain. */
  domain: 'mg.einmal.example',
} as const;
