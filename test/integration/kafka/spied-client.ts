import type { Consumer, ConsumerConfig, ProducerConfig } from 'kafkajs';
import type { KafkaClient } from '../../../src/messaging/kafka/kafka-client.ts';

export interface SpiedClient {
  readonly client: KafkaClient;
  readonly consumers: Consumer[];
  readonly consumerConfigs: ConsumerConfig[];
  readonly producerConfigs: (ProducerConfig | undefined)[];
}

/** The same client, with the kafkajs consumers that it makes and the options of consumers and producers. */
export function spied(inner: KafkaClient): SpiedClient {
  const seen = { consumers: [] as Consumer[], consumerConfigs: [] as ConsumerConfig[] };
  const producerConfigs: (ProducerConfig | undefined)[] = [];
  const client: KafkaClient = {
    open: (options) => {
      const link = inner.open(options);
      const createConsumer = link.kafka.consumer.bind(link.kafka);
      const createProducer = link.kafka.producer.bind(link.kafka);
      link.kafka.consumer = (config) => {
        const consumer = createConsumer(config);
        seen.consumerConfigs.push(config);
        seen.consumers.push(consumer);
        return consumer;
      };
      link.kafka.producer = (config) => {
        producerConfigs.push(config);
        return createProducer(config);
      };
      return link;
    },
  };
  return { client, ...seen, producerConfigs };
}
