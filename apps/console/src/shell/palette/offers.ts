import { Rows3, Search } from 'lucide-react'
import { nameOf } from '../../resources/resource.ts'
import { valueText } from '../../resources/value-text.ts'
import type { Offer } from './actions.ts'
import type { Found } from './find.ts'

/** The records of a noun, and the list of all that match if there are more. */
export function offersOf({ resource, rows, total }: Found, query: string): { title: string; offers: Offer[] } {
  const { noun, many, title, columns } = resource
  const [, , second] = columns
  const records = rows.map((row): Offer => {
    const fact = second === undefined ? '' : valueText(second, row[second.field])
    return {
      key: `${noun} ${row.id}`,
      icon: Rows3,
      text: nameOf(resource, row),
      note: [row.id, fact].filter(Boolean).join(' · '),
      isData: true,
      target: { page: `/${noun}/${row.id}` },
    }
  })
  if (total <= rows.length) return { title, offers: records }
  const all: Offer = {
    key: `all ${noun}`,
    icon: Search,
    text: `All ${total.toLocaleString('en')} ${many} with “${query}”`,
    note: 'Ctrl Enter',
    target: { page: `/${noun}?${new URLSearchParams({ q: query })}` },
  }
  return { title, offers: [...records, all] }
}
