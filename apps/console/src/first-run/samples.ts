import { client } from '../client.ts'
import { newGroup } from '../resources/calls.ts'

const USERS = 200
const BOOKS = 300
const ITEMS = 1000

const FIRST =
  'Ada Amara Anders Bianca Carlos Chloé Deniz Elif Emeka Farah Felix Grace Hana Hugo Ines Ivan Jonas Kofi Lena Leila Liam Mei Mateo Mira Nadia Noah Olivia Omar Paula Priya Rafael Ravi Sofia Tariq Tomas Uma Viktor Wanjiru Yuki Zoe'.split(
    ' ',
  )
const LAST =
  'Abebe Almeida Andersson Bauer Chen Costa Demir Dubois Eriksen Fischer García Haddad Hansen Ito Jensen Kamau Kowalski Kim Larsen Lopez Mbeki Moreau Nakamura Novák Okafor Olsen Patel Petrov Quinn Rossi Sato Schmidt Silva Singh Tanaka Torres Usman Varga Weber Young'.split(
    ' ',
  )
const TITLES = ['The', 'A', 'Notes on the', 'Letters from the', 'Beyond the', 'The Last', 'A Short History of the']
const ADJECTIVES = 'Quiet Northern Hidden Golden Distant Broken Winter Silent Crooked Blue'.split(' ')
const NOUNS = 'Harbor Garden River Mountain Library Orchard Island Lighthouse Railway Bridge Forest Winter Atlas'.split(
  ' ',
)
const AUTHORS = LAST.map((last, index) => `${FIRST[(index * 7) % FIRST.length]} ${last}`)
const THINGS: [category: string, price: number, names: string[]][] = [
  ['lighting', 60, ['Desk lamp', 'Floor lamp', 'Bedside lamp', 'Pendant light', 'Lantern']],
  ['storage', 48, ['Shelf', 'Cabinet', 'Basket', 'Coat rack', 'Chest']],
  ['kitchen', 32, ['Kettle', 'Mug', 'Cutting board', 'Salt mill', 'Saucepan']],
  ['garden', 40, ['Watering can', 'Planter', 'Rake', 'Bird house', 'Bench']],
  ['toys', 24, ['Train', 'Puzzle', 'Kite', 'Building blocks', 'Marble run']],
  ['office', 35, ['Notebook', 'Desk tidy', 'Stapler', 'Pin board', 'Footrest']],
]
const MATERIALS = 'brass oak walnut linen glass steel ceramic birch cork leather marble'.split(' ')
const COLORS = 'black white grey sand blue green red'.split(' ')

/** Writes the sample data, all requests of it with one group, so that they can be undone together. */
export async function loadSamples(): Promise<string> {
  const group = newGroup()
  const options = { group }
  await client.users.createMany.mutate({ users: users() }, options)
  await client.books.createMany.mutate({ books: books() }, options)
  await client.items.createMany.mutate({ items: items() }, options)
  return group
}

function users() {
  return Array.from({ length: USERS }, (_, index) => {
    const first = at(FIRST, index)
    const last = at(LAST, index + 3 * Math.floor(index / FIRST.length))
    const plain = `${first}.${last}`
      .normalize('NFD')
      .replace(/[^\w.]/g, '')
      .toLowerCase()
    return {
      name: `${first} ${last}`,
      email: `${plain}@example.com`,
      role: index % 16 === 0 ? ('admin' as const) : ('user' as const),
      status: index % 9 === 4 ? ('inactive' as const) : ('active' as const),
      age: index % 7 === 6 ? null : 19 + ((index * 37) % 52),
    }
  })
}

function books() {
  return Array.from({ length: BOOKS }, (_, index) => {
    const title = `${at(TITLES, index)} ${at(ADJECTIVES, index * 3 + Math.floor(index / 70))} ${at(NOUNS, index)}`
    const [month, day] = [1 + ((index * 5) % 12), 1 + ((index * 11) % 28)].map((part) => String(part).padStart(2, '0'))
    return {
      title,
      author: at(AUTHORS, Math.floor(index ** 1.5)),
      published_date: `${1948 + ((index * 29) % 78)}-${month}-${day}`,
    }
  })
}

function items() {
  return Array.from({ length: ITEMS }, (_, index) => {
    // Some categories have more items than others.
    const kind = Math.floor(THINGS.length * (((index * 37) % 101) / 101) ** 1.6)
    const [category, price, names] = THINGS[kind] ?? ['lighting', 60, ['Desk lamp']]
    const color = index % 3 === 0 ? `, ${at(COLORS, index)}` : ''
    return {
      name: `${at(names, index)}, ${at(MATERIALS, index * 5 + kind)}${color}`,
      price: Math.round(price * (0.4 + ((index * 53) % 97) / 60)) - 0.05,
      category: index % 40 === 17 ? null : category,
    }
  })
}

function at(list: string[], index: number): string {
  return list[index % list.length] ?? ''
}
