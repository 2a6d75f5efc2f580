import { expect, test } from 'vitest'
import { namesOf } from './names.ts'
import { rulesSource, withoutRules, withRules } from './rules.ts'

test('the rules of a resource are joined with the others, and taken out again', () => {
  const names = namesOf('order-lines')
  const operations = `import { userRules } from './users/rules.ts'

const rules: AllRules = { users: userRules(checkPassword), ...more }
`
  expect(rulesSource(names)).toContain("export const orderLineRules: CollectionRules<'orderLines'> = {")
  const joined = withRules(operations, names)
  expect(joined).toBe(`import { orderLineRules } from './order-lines/rules.ts'
import { userRules } from './users/rules.ts'

const rules: AllRules = { users: userRules(checkPassword), orderLines: orderLineRules, ...more }
`)
  expect(withoutRules(joined, names)).toBe(operations)
})
