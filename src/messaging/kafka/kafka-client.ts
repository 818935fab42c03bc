import { Socket, connect as connectTcp, isIP } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import kafkajs, { type ISocketFactory, type Kafka, type KafkaConfig, type SASLOptions } from 'kafkajs';
import type { Logger } from '../../observability/logger.ts';
import { isZstdSupported, registerCodecs } from './kafka-codecs.ts';
import { routeKafkaLog } from './kafka-log.ts';
import { KNOWN_KAFKAJS_VERSION, installedKafkajsVersion, patchRequestQueue } from './kafkajs-patches.ts';

export interface KafkaSettings {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl?: boolean | ConnectionOptions;
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  };
  readonly logger: Logger;
}

export interface KafkaLinkOptions {
  readonly onOffsetOutOfRange?: (place: { readonly topic: string; readonly partition: number }) => void;
  /** Longest wait for an answer, in ms. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** Tries of kafkajs itself after the first, before the failure reaches us. Default 5. */
  readonly retries?: number;
}

/** One kafkajs instance and all of its connections. */
export interface KafkaLink {
  readonly kafka: Kafka;
  /** Cuts every connection and refuses new ones, so that nothing left running inside kafkajs can read or write any more. */
  destroy(): void;
}

/**
 * Opens links. Each consumer, producer and admin needs one of its own: consumers of one instance share a map of committed
 * offsets, and a rejoin of one clears it under the others.
 */
export interface KafkaClient {
  open(options?: KafkaLinkOptions): KafkaLink;
}

/** The one way into kafkajs: codecs registered, request queue patched, log routed and cleaned. Connects to nothing yet. */
export function createKafkaClient(settings: KafkaSettings): KafkaClient {
  const { logger } = settings;
  registerCodecs();
  if (!isZstdSupported()) logger.warn('kafka-zstd-unsupported', { node: process.version });
  if (!patchRequestQueue()) {
    logger.warn('kafkajs-version-unknown', { installed: installedKafkajsVersion(), known: KNOWN_KAFKAJS_VERSION });
  }
  return { open: (options = {}) => openLink(settings, options) };
}

function openLink(settings: KafkaSettings, options: KafkaLinkOptions): KafkaLink {
  const hosts = new Set(settings.brokers.map((broker) => broker.replace(/:\d+$/, '')));
  const sockets = new Sockets(hosts);
  const { logger } = settings;
  const onOffsetOutOfRange = options.onOffsetOutOfRange ?? (() => undefined);
  const config: KafkaConfig = {
    brokers: [...settings.brokers],
    clientId: settings.clientId,
    // One second, the default, is less than a busy machine or a TLS handshake across regions may take.
    connectionTimeout: 5000,
    authenticationTimeout: 10_000,
    requestTimeout: options.requestTimeoutMs ?? 30_000,
    // Always said in full: kafkajs takes other defaults when NODE_ENV is `test`.
    retry: { retries: options.retries ?? 5, initialRetryTime: 100, maxRetryTime: 5000, factor: 0.2, multiplier: 2 },
    socketFactory: sockets.factory,
    logLevel: kafkajs.logLevel.INFO,
    logCreator: routeKafkaLog({ logger, hosts, onOffsetOutOfRange }),
  };
  if (settings.ssl !== undefined) config.ssl = settings.ssl;
  if (settings.sasl !== undefined) config.sasl = settings.sasl as SASLOptions;
  return { kafka: new kafkajs.Kafka(config), destroy: () => sockets.destroy() };
}

class Sockets {
  readonly #open = new Set<Socket>();
  readonly #hosts: Set<string>;
  #destroyed = false;

  constructor(hosts: Set<string>) {
    this.#hosts = hosts;
  }

  readonly factory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    this.#hosts.add(host);
    const socket = this.#destroyed ? refusedSocket() : connectSocket(host, port, ssl, onConnect);
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  };

  destroy(): void {
    this.#destroyed = true;
    for (const socket of this.#open) socket.destroy(new Error('the link was destroyed'));
  }
}

/** kafkajs' types say that `ssl` is an object; it hands on what it was given, also `true`, `false` or nothing. */
function connectSocket(host: string, port: number, ssl: unknown, onConnect: () => void): Socket {
  const socket = ssl ? connectTls(tlsOptions(host, port, ssl), onConnect) : connectTcp({ host, port }, onConnect);
  socket.setKeepAlive(true, 60_000);
  // Each request is one write: waiting for more only delays it.
  socket.setNoDelay(true);
  return socket;
}

function tlsOptions(host: string, port: number, ssl: unknown): ConnectionOptions {
  const serverName = isIP(host) === 0 ? { servername: host } : {};
  return { host, port, ...serverName, ...(typeof ssl === 'object' ? ssl : {}) };
}

function refusedSocket(): Socket {
  const socket = new Socket();
  socket.destroy(new Error('the link was destroyed'));
  return socket;
}
