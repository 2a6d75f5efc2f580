import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { type Options, pinoHttp } from 'pino-http'

const FLUSH_MS = 100

/** Writes to stdout in batches of lines, like the service. */
export const log = pino(pino.destination({ sync: false, minLength: 4096 }))
setInterval(() => log.flush(), FLUSH_MS).unref()

/** One line per request without headers, like the service. */
export const httpLogOptions: Options = {
  logger: log,
  genReqId: (_req, res) => {
    const id = randomUUID()
    res.setHeader('X-Request-Id', id)
    return id
  },
  wrapSerializers: false,
  serializers: {
    req: ({ id, method, url, socket }) => ({ id, method, url, address: socket.remoteAddress }),
    res: ({ statusCode }) => ({ statusCode }),
  },
}

export const httpLog = pinoHttp(httpLogOptions)
