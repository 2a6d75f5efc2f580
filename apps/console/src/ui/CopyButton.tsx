import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './Button.tsx'
import { notify } from './notices.ts'

const SHOWN_MS = 2_000

interface Props {
  text: string
  label: string
  className?: string
}

/** Copies a text, and says so in place of its label. */
export function CopyButton({ text, label, className = 'button ghost small' }: Props) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), SHOWN_MS)
    } catch {
      // Without HTTPS there is no clipboard.
      notify('failed', 'The browser does not allow this page to copy. Select the text and copy it.')
    }
  }
  const Icon = isCopied ? Check : Copy
  return (
    <Button className={className} icon={Icon} onPress={() => void copy()}>
      <span role="status">{isCopied ? 'Copied' : label}</span>
    </Button>
  )
}
