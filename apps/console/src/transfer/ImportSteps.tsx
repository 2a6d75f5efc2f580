import { Check } from 'lucide-react'
import { Button } from '../ui/Button.tsx'

interface Props {
  /** The name of the chosen file. */
  file?: string
  /** The step in progress. */
  step: 'file' | 'match' | 'check'
  /** Returns to the match of the columns. */
  onMatch?: () => void
}

/** The steps before an import: those that are done, and the one in progress. */
export function ImportSteps({ file, step, onMatch = () => {} }: Props) {
  return (
    <ol className="progress-steps">
      <li className="row" aria-current={step === 'file' ? 'step' : undefined}>
        {file === undefined ? (
          'File'
        ) : (
          <>
            <Check />
            <span translate="no">{file}</span>
          </>
        )}
      </li>
      <li className="row" aria-current={step === 'match' ? 'step' : undefined}>
        {step === 'check' ? (
          <>
            <Check />
            <Button className="link" onPress={onMatch}>
              Match columns
            </Button>
          </>
        ) : (
          'Match columns'
        )}
      </li>
      <li className="row" aria-current={step === 'check' ? 'step' : undefined}>
        Check
      </li>
    </ol>
  )
}
