// The least that a server does: a program of its own, beside which the service's figures are read.
import { createServer } from 'node:http'

createServer((_req, res) => res.end('{}')).listen(Number(process.env.PORT), '127.0.0.1')
