import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy to a local port that can stop responding: connections stay open, but no data passes. */
export async function breakableNetwork(to: number) {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy()).on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Affects current connections only, not later ones. */
    silence: () => {
      for (const socket of sockets) socket.unpipe().resume()
      sockets.clear()
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
    },
  }
}
