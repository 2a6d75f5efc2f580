// Loaded into the service by --import: kills it when it is about to answer a write.
import { ServerResponse } from 'node:http'

const { writeHead } = ServerResponse.prototype
ServerResponse.prototype.writeHead = function (...args) {
  if (this.req.method !== 'GET') process.kill(process.pid, 'SIGKILL')
  return writeHead.apply(this, args)
}
