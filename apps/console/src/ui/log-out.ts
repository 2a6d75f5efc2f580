const forgetters: (() => void)[] = []

/** Registers what forgets the data of a user, because the next user must not see it. */
export function onLogOut(forget: () => void): void {
  forgetters.push(forget)
}

export function forgetUser(): void {
  for (const forget of forgetters) forget()
}
