// A minimal node:http server: a control that shows delays caused by the machine and not by the service.
import { createServer } from 'node:http'

createServer((_req, res) => res.end('{}')).listen(Number(process.env.PORT), '127.0.0.1')
