// An import of node:http reads all its exports, of which WebSocket is the whole of undici: 13 MB that no request needs.
export const { createServer, IncomingMessage, ServerResponse } = process.getBuiltinModule('node:http')
