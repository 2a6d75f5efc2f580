// A worker thread that sends GET requests and discards the responses. `workerData`: the number of `sockets`, how many requests
// each sends `ahead`, and whether they wait until all are connected (`isKept`).
import { once } from 'node:events'
import { connect } from 'node:net'
import { workerData } from 'node:worker_threads'

const { url, path, caller, sockets, ahead, isKept } = workerData
const { hostname, port } = new URL(url)
const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${caller}\r\n`
const requests = [...Array(ahead - 1).fill(`${head}\r\n`), `${head}Connection: close\r\n\r\n`].join('')

const open = Array.from({ length: sockets }, () => connect(Number(port), hostname).on('error', () => {}))
if (isKept) {
  await Promise.all(open.map((socket) => once(socket, 'connect')))
  // The service has accepted those that it has answered.
  const check = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const answered = async (socket) => {
    socket.write(check)
    await once(socket, 'data')
  }
  await Promise.all(open.map(answered))
}
await Promise.all(
  open.map((socket) => {
    socket.resume().write(requests)
    return once(socket, 'close')
  }),
)
