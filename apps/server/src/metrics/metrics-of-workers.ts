import cluster, { type Worker } from 'node:cluster'
import { ApiError } from '@resource/openapi'

/** What a worker asks of all others. */
type Topic = 'metrics' | 'status'

const TOPICS: unknown[] = ['metrics', 'status'] satisfies Topic[]
// Prometheus's own timeout is 10 s.
const MAX_WAIT_MS = 5_000

interface Message {
  topic: Topic
  question: number
  /** The id of the worker that asks, and how many workers it asks. */
  asker?: number
  asked?: number
  /** A worker's answer. */
  metrics?: unknown
}

/** In the primary: forwards a worker's question to all workers, and each answer to the asking worker. */
export function relayMetrics(): void {
  // A worker that is still starting would lose the question.
  const serving = new Set<Worker>()
  cluster.on('listening', (worker) => serving.add(worker))
  cluster.on('disconnect', (worker) => serving.delete(worker))
  cluster.on('message', (from, message: Message) => {
    if (!TOPICS.includes(message.topic)) return
    if (message.metrics !== undefined) return void cluster.workers?.[message.asker as number]?.send(message, ignore)
    for (const worker of serving) worker.send({ ...message, asker: from.id, asked: serving.size }, ignore)
  })
}

/**
 * In a worker: answers questions with its own metrics.
 *
 * @param own this worker's metrics
 * @returns collects the metrics of all workers, including its own; throws an ApiError 503 if one does not answer in time
 */
export function exchangeMetrics<Metrics>(topic: Topic, own: () => Promise<Metrics>): () => Promise<Metrics[]> {
  const waiting = new Map<number, (answer: Message) => void>()
  let questions = 0
  const send = (message: Message) => process.send?.(message, undefined, undefined, ignore)
  process.on('message', async (message: Message) => {
    if (message.topic !== topic) return
    if (message.metrics !== undefined) waiting.get(message.question)?.(message)
    else send({ ...message, metrics: await own() })
  })
  return async () => {
    const question = ++questions
    const { promise, resolve, reject } = Promise.withResolvers<Metrics[]>()
    const late = () => reject(new ApiError(503, 'Not all processes reported their metrics in time'))
    const timer = setTimeout(late, MAX_WAIT_MS)
    const answers: Metrics[] = []
    waiting.set(question, ({ metrics, asked }) => {
      answers.push(metrics as Metrics)
      if (answers.length === asked) resolve(answers)
    })
    send({ topic, question })
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      waiting.delete(question)
    }
  }
}

// Without a callback, a failed send to a process that has just exited would end this process as well. The timeout of the
// asking worker covers the missing answer.
function ignore(): void {}
