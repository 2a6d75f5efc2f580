import { contract } from '@resource/contract'
import { Link } from 'lucide-react'
import type { Resource, Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { CodeTabs } from '../ui/CodeTabs.tsx'
import { copy } from '../ui/copy.ts'

interface Props {
  resource: Resource
  row: Row
}

/** A record as JSON, and the requests that read it. */
export function RecordCode({ resource, row }: Props) {
  return (
    <section className="in-code" aria-label="As code">
      <CodeTabs label="Language" codes={codesOf(resource, row)}>
        <Button className="small button ghost" icon={Link} onPress={() => copyLink(resource, row)}>
          Link
        </Button>
      </CodeTabs>
    </section>
  )
}

/** Copies the link to the page of a record. */
export function copyLink({ noun }: Resource, { id }: Row): void {
  void copy('Link', `${window.location.origin}/console/${noun}/${id}`)
}

function codesOf({ noun, one }: Resource, row: Row): Record<string, string> {
  const { origin } = window.location
  const { path } = contract[noun].procedures.get.meta.openapi
  return {
    JSON: JSON.stringify(row, null, 2),
    cURL: `curl ${origin}${path.replace(/\{\w+\}/, String(row.id))} \\\n  -H "Authorization: Bearer $API_KEY"`,
    TypeScript: [
      "import { createClient } from '@resource/client'",
      '',
      `const client = createClient({ baseUrl: '${origin}' })`,
      `const ${one} = await client.${noun}.get.query({ id: ${row.id} })`,
    ].join('\n'),
  }
}
