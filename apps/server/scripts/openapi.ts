import { createDocument } from '../src/document.ts'

process.stdout.write(`${JSON.stringify(createDocument(), null, 2)}\n`)
