import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { API_VERSION } from '@resource/contract'
import type { Logger } from 'pino'
import type { Config } from '../process/config.ts'

/**
 * Creates a provider that exports spans in the background to OTEL_EXPORTER_OTLP_ENDPOINT. It drops spans when its queue is
 * full.
 */
export function createProvider(config: Config, log: Logger): TracerProvider {
  const named = resourceFromAttributes({ 'service.name': 'resource-service', 'service.version': API_VERSION })
  return new TracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(config),
    // A path may be as long as the request head allows.
    spanLimits: { attributeValueLengthLimit: 1_000 },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: withFailureLog(new OTLPTraceExporter({ timeoutMillis: config.OTEL_EXPORTER_OTLP_TIMEOUT }), log),
        scheduledDelayMillis: config.OTEL_BSP_SCHEDULE_DELAY,
        maxQueueSize: config.OTEL_BSP_MAX_QUEUE_SIZE,
        maxExportBatchSize: config.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
      }),
    ],
  })
}

// The SDK reads neither the sampler nor the queue settings from the environment.
function samplerOf({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }: Config): Sampler {
  const [, isParentBased, name] = /^(parentbased_)?(.*)$/.exec(OTEL_TRACES_SAMPLER) ?? []
  const root =
    name === 'always_on'
      ? new AlwaysOnSampler()
      : name === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(OTEL_TRACES_SAMPLER_ARG)
  return isParentBased === undefined ? root : new ParentBasedSampler({ root })
}

/** Wraps an exporter to log the first failure in a row and the recovery. */
function withFailureLog(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const { error } = result
        if (error !== undefined && !isFailing) log.warn({ reason: error.message }, 'cannot export traces')
        if (error === undefined && isFailing) log.info('traces are exported again')
        isFailing = error !== undefined
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}
