import type { ButtonHTMLAttributes } from 'react'

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled' | 'onClick'> {
  isDisabled?: boolean
  onPress?: () => void
}

/** A button that keeps the focus while it is disabled. The `disabled` attribute would lose it. */
export function Button({ isDisabled = false, onPress, className = 'button', type = 'button', ...rest }: Props) {
  return (
    <button
      {...rest}
      type={type}
      className={className}
      aria-disabled={isDisabled || undefined}
      onClick={(event) => {
        if (isDisabled) event.preventDefault()
        else onPress?.()
      }}
    />
  )
}
