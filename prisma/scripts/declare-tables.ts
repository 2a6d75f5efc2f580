// A Prisma generator that writes the tables' declarations. It speaks JSON-RPC: requests on stdin, responses on stderr.
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type Index, type Model, tableDeclarations } from './table-declarations.ts'

interface Request {
  id: number
  method: 'getManifest' | 'generate'
  params: { generator: { output: { value: string } }; dmmf: { datamodel: { models: Model[]; indexes: Index[] } } }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line) as Request
  process.stderr.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answer(request) })}\n`)
})

function answer({ method, params }: Request) {
  if (method === 'getManifest') return { result: { manifest: { prettyName: 'tables', defaultOutput: './tables.ts' } } }
  try {
    writeFileSync(params.generator.output.value, tableDeclarations(params.dmmf.datamodel))
    return { result: null }
  } catch (error) {
    const { message, stack } = error as Error
    return { error: { code: -32000, message, data: { stack } } }
  }
}
