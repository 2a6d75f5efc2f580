// A Prisma generator that writes the table declarations.
import { writeFileSync } from 'node:fs'
import prisma from '@prisma/generator-helper'
import { tableDeclarations } from './table-declarations.ts'

prisma.generatorHandler({
  onManifest: () => ({ prettyName: 'tables', defaultOutput: './tables.ts' }),
  onGenerate: async ({ generator, dmmf }) => {
    writeFileSync(generator.output?.value as string, tableDeclarations(dmmf.datamodel))
  },
})
