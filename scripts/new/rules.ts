import type { Names } from './names.ts'

const PLACE = '...more }'

const rulesOf = ({ one }: Names) => `${one}Rules`

/** The source code of the resource's rules, unformatted: none yet. */
export function rulesSource(names: Names): string {
  const { noun, label } = names
  return `import type { CollectionRules } from '../store/collection.ts'

/** The rules of ${label}, for every way to write and read them: docs/guides/add-a-resource.md. */
export const ${rulesOf(names)}: CollectionRules<'${noun}'> = {
  // check: ({ before, after }, { caller, tx }) => { throw invalid('field', 'must be …') },
  // compute: ({ before, after }, { caller, tx }) => ({ read_only_field: … }),
  // scope: ({ role, subject }) => (role === 'admin' ? undefined : { owner: subject }),
}
`
}

/** Joins the rules with the others. @param operations the source code that lists them */
export function withRules(operations: string, names: Names): string {
  const entry = `${names.noun}: ${rulesOf(names)}, `
  return `import { ${rulesOf(names)} } from './${names.path}/rules.ts'\n${operations.replace(PLACE, entry + PLACE)}`
}

export function withoutRules(operations: string, names: Names): string {
  const rules = rulesOf(names)
  return operations
    .replace(new RegExp(`^import \\{ ${rules} \\} .*\\n`, 'm'), '')
    .replace(new RegExp(`\\s*\\b${names.noun}: ${rules},`), '')
}
