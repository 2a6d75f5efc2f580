import { expect, test } from 'vitest'
import { parseField } from './fields.ts'
import { namesOf } from './names.ts'

test.each([
  ['reference:text', 'text(1, 200)', 'String', {}],
  ['note:text?', 'text(1, 200)', 'String', { nullable: true, default: null }],
  ['code:text:unique', 'text(1, 200)', 'String', { unique: true }],
  ['quantity:int', 'whole(-2147483648, 2147483647)', 'Int', { values: [1, 2], invalid: 2147483648 }],
  ['quantity:int:1..1000=5', 'whole(1, 1000)', 'Int', { default: 5, values: [1, 2], invalid: 0 }],
  ['rating:int:..5?=3', 'whole(-2147483648, 5)', 'Int', { nullable: true, default: 3, invalid: 6 }],
  ['price:decimal:0..', 'decimal(0, 1e12)', 'Float', { values: [1, 2], invalid: -1 }],
  ['share:decimal:0..0.5', 'decimal(0, 0.5)', 'Float', { values: [0.25, 0.5], invalid: -1 }],
  ['ratio:decimal:0.7..0.9', 'decimal(0.7, 0.9)', 'Float', { values: [0.8, 0.9] }],
  ['paid:bool=false', "z.boolean(must('true or false'))", 'Boolean', { default: false, filters: 'value' }],
  ['due:date', 'date()', 'String', { filters: 'range' }],
  ['sent_at:time', 'moment', 'DateTime', { filters: 'range' }],
  ['total:decimal:0..:readonly=0', 'decimal(0, 1e12)', 'Float', { readOnly: true, default: 0 }],
  [
    'status:open|closed|lost=open',
    'z.enum(["open","closed","lost"], must("open, closed or lost"))',
    'String',
    { default: 'open', filters: 'value', values: ['open', 'closed'] },
  ],
  [
    'kind:visible|not-visible',
    'z.enum(["visible","not-visible"], must("visible or not-visible"))',
    'String',
    { invalid: 'not-not-visible' },
  ],
  [
    'user:ref:users',
    'reference("users")',
    'Int',
    { name: 'user_id', filters: 'value', relation: { name: 'user', collection: 'users', onDelete: 'Restrict' } },
  ],
  [
    'user:ref:users:cascade?',
    'reference("users")',
    'Int',
    {
      name: 'user_id',
      nullable: true,
      default: null,
      relation: { name: 'user', collection: 'users', onDelete: 'Cascade' },
    },
  ],
])('the field %s becomes %s in the contract and %s in the model', (text, schema, column, facts) => {
  expect(parseField(text)).toMatchObject({ name: text.split(':')[0], schema, column, ...facts })
})

test.each([
  ['reference', 'reference: a field must be name:type, with a lowercase name such as due_date.'],
  ['Due:date', 'Due:date: a field must be name:type, with a lowercase name such as due_date.'],
  ['id:int', 'id:int: id is a reserved name.'],
  ['xmin:int', 'xmin:int: xmin is a reserved name.'],
  [
    'a:word',
    'a:word: unknown type "word"; must be one of text, int, decimal, bool, date, time, ref:users or open|closed.',
  ],
  ['a:text:5', 'a:text:5: "5" cannot follow text; see npm run new -- --help.'],
  ['a:int:1..2:3', 'a:int:1..2:3: unexpected "3"; see npm run new -- --help.'],
  ['a:int:5', 'a:int:5: bounds must have the form 1..1000, 0.. or ..10.'],
  ['a:int:0..1.5', 'a:int:0..1.5: bounds of an int must be integers.'],
  ['a:int:5..1', 'a:int:5..1: bounds 5..1 must be ascending and within -2147483648..2147483647.'],
  [
    'a:int:0..3000000000',
    'a:int:0..3000000000: bounds 0..3000000000 must be ascending and within -2147483648..2147483647.',
  ],
  ['a:int:1..5=9', 'a:int:1..5=9: the default "9" is not a valid a.'],
  ['a:date=2026-02-30', 'a:date=2026-02-30: the default "2026-02-30" is not a valid a.'],
  ['a:open|open', 'a:open|open: choices must be distinct words, such as open|closed.'],
  ['a:open|', 'a:open|: choices must be distinct words, such as open|closed.'],
  ['a:ref', 'a:ref: a reference must name a collection, such as ref:users.'],
  ['a:ref:users=1', 'a:ref:users=1: a reference cannot have a default.'],
  ['a:ref:users:unique', 'a:ref:users:unique: a reference cannot be unique.'],
  ['a:text:readonly', 'a:text:readonly: a read-only field needs ? or a default, because no request sets it.'],
  ['a:text:cascade', 'a:text:cascade: only a reference can cascade.'],
])('%s is rejected', (text, message) => {
  expect(() => parseField(text)).toThrow(message)
})

test.each([
  ['orders', undefined, 'orders', 'order', 'Order'],
  ['order-lines', undefined, 'orderLines', 'orderLine', 'OrderLine'],
  ['order_lines', undefined, 'orderLines', 'orderLine', 'OrderLine'],
  ['categories', undefined, 'categories', 'category', 'Category'],
  ['addresses', undefined, 'addresses', 'address', 'Address'],
  ['boxes', undefined, 'boxes', 'box', 'Box'],
  ['purchases', undefined, 'purchases', 'purchase', 'Purchase'],
  ['movies', undefined, 'movies', 'movie', 'Movie'],
  ['cookies', undefined, 'cookies', 'cookie', 'Cookie'],
  ['statuses', undefined, 'statuses', 'status', 'Status'],
  ['buses', undefined, 'buses', 'bus', 'Bus'],
  ['houses', undefined, 'houses', 'house', 'House'],
  ['caches', undefined, 'caches', 'cache', 'Cache'],
  ['branches', undefined, 'branches', 'branch', 'Branch'],
  ['heroes', undefined, 'heroes', 'hero', 'Hero'],
  ['shoes', undefined, 'shoes', 'shoe', 'Shoe'],
  ['shelves', undefined, 'shelves', 'shelf', 'Shelf'],
  ['sizes', undefined, 'sizes', 'size', 'Size'],
  ['quizzes', undefined, 'quizzes', 'quiz', 'Quiz'],
  ['analyses', undefined, 'analyses', 'analysis', 'Analysis'],
  ['children', undefined, 'children', 'child', 'Child'],
  ['home-addresses', undefined, 'homeAddresses', 'homeAddress', 'HomeAddress'],
  // Not in the dictionary.
  ['webhooks', undefined, 'webhooks', 'webhook', 'Webhook'],
  ['selfies', 'selfie', 'selfies', 'selfie', 'Selfie'],
  ['people', 'person', 'people', 'person', 'Person'],
])('the names of %s (singular: %s) are derived', (plural, singular, noun, one, model) => {
  expect(namesOf(plural, singular)).toMatchObject({ noun, one, model })
})

test.each(['order', 'Orders', 'people', 'address', 'boss', 'status', 'selfies', '3ds', 'order--lines', ''])(
  '"%s" is rejected as a plural',
  (plural) => {
    expect(() => namesOf(plural)).toThrow(`"${plural}" must be a lowercase plural, such as orders`)
  },
)
