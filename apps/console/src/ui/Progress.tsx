import { Label, ProgressBar } from 'react-aria-components'

interface Props {
  label: string
  value: number
  total: number
  /** Instead of the percentage: `62 %, 2 min left`. */
  text?: string | undefined
}

/** A labeled progress bar. */
export function Progress({ label, value, total, text }: Props) {
  return (
    <ProgressBar className="progress" value={value} maxValue={Math.max(1, total)}>
      {({ percentage = 0 }) => (
        <>
          <Label>{label}</Label>
          <span>{text ?? `${Math.floor(percentage)} %`}</span>
          <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
            <rect width={percentage} height="1" />
          </svg>
        </>
      )}
    </ProgressBar>
  )
}
