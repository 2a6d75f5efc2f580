// Runs a PostgreSQL server until its own stdin is closed: `node guard.mjs <uid> <program> …`. So a killed test run leaves
// no server behind.
import { spawn } from 'node:child_process'

const [uid, program, ...args] = process.argv.slice(2)
const identity = uid === '' ? {} : { uid: Number(uid), gid: Number(uid) }
const server = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], ...identity })
server.on('error', (error) => process.stderr.write(`${error.message}\n`))
server.on('close', (code) => process.exit(code ?? 1))
// SIGINT is PostgreSQL's fast shutdown.
process.stdin.on('close', () => server.kill('SIGINT')).resume()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
