import type { LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes } from 'react'

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled' | 'onClick'> {
  /** Before the text, or in its place. */
  icon?: LucideIcon | undefined
  isDisabled?: boolean
  onPress?: () => void
}

/** A button that keeps the focus while it is disabled. The `disabled` attribute would lose it. */
export function Button(props: Props) {
  const { icon: Icon, isDisabled = false, onPress, className = 'button', type = 'button', children, ...rest } = props
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
    >
      {Icon && <Icon />}
      {children}
    </button>
  )
}
