/** @returns the book as a later `GET /books/{id}` answers it, as text */
export async function createBook(url: string): Promise<string> {
  const response = await fetch(`${url}/books`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' }),
  })
  return response.text()
}

/** Creates so many users, 1,000 at most. */
export async function createUsers(url: string, count: number): Promise<void> {
  const users = Array.from({ length: count }, (_, n) => ({ name: `User ${n}`, email: `user${n}@example.com` }))
  const { status } = await fetch(`${url}/api/users/bulk`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(users),
  })
  if (status !== 201) throw new Error(`The users were answered with ${status}`)
}
