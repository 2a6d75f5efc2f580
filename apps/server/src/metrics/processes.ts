import cluster, { type Worker } from 'node:cluster'
import { ApiError } from '@resource/openapi'

const TOPIC = 'metrics'
// Prometheus waits ten seconds.
const LONGEST_WAIT_MS = 5_000

interface Message {
  topic: typeof TOPIC
  question: number
  /** The worker that asks, and how many are asked. */
  asker?: number
  asked?: number
  /** A worker's answer. */
  metrics?: unknown
}

/** In the primary: passes a worker's question on to all workers, and each answer to the one that asked. */
export function passMetricsOn(): void {
  // One that starts would lose the question.
  const serving = new Set<Worker>()
  cluster.on('listening', (worker) => serving.add(worker))
  cluster.on('disconnect', (worker) => serving.delete(worker))
  cluster.on('message', (from, message: Message) => {
    if (message.topic !== TOPIC) return
    if (message.metrics !== undefined) return void cluster.workers?.[message.asker as number]?.send(message, ignore)
    for (const worker of serving) worker.send({ ...message, asker: from.id, asked: serving.size }, ignore)
  })
}

/**
 * In a worker: tells its metrics to whichever asks.
 *
 * @param own what it tells
 * @returns asks all workers, itself among them; throws a ApiError 503 when one does not answer in time
 */
export function exchangeMetrics<Metrics>(own: () => Promise<Metrics>): () => Promise<Metrics[]> {
  const waiting = new Map<number, (answer: Message) => void>()
  let questions = 0
  const send = (message: Message) => process.send?.(message, undefined, undefined, ignore)
  process.on('message', async (message: Message) => {
    if (message.topic !== TOPIC) return
    if (message.metrics !== undefined) waiting.get(message.question)?.(message)
    else send({ ...message, metrics: await own() })
  })
  return async () => {
    const question = ++questions
    const { promise, resolve, reject } = Promise.withResolvers<Metrics[]>()
    const late = () => reject(new ApiError(503, 'Not all processes told their metrics in time'))
    const timer = setTimeout(late, LONGEST_WAIT_MS)
    const answers: Metrics[] = []
    waiting.set(question, ({ metrics, asked }) => {
      answers.push(metrics as Metrics)
      if (answers.length === asked) resolve(answers)
    })
    send({ topic: TOPIC, question })
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      waiting.delete(question)
    }
  }
}

// A process that ends meanwhile is missed by who waits for its answer; without this it would end this one too.
function ignore(): void {}
