import type { ServerResponse } from 'node:http'

interface Place {
  readonly res: ServerResponse
  at: number
}

/**
 * The requests that are being answered, in no order.
 *
 * Not a Set: V8 makes a Set that is added to and deleted from anew now and then, and the old table points to the new one.
 * Once one of them is in the old generation, each is kept by the one before, with the requests in it, until all of memory
 * is collected: 2 KB of each request were.
 */
export class OpenRequests {
  readonly #places: Place[] = []

  get size(): number {
    return this.#places.length
  }

  /** @returns what ends it; it is to be called once */
  add(res: ServerResponse): () => void {
    const place = { res, at: this.#places.length }
    this.#places.push(place)
    return () => this.#remove(place)
  }

  #remove(place: Place): void {
    const last = this.#places.pop() as Place
    if (last === place) return
    this.#places[place.at] = last
    last.at = place.at
  }

  /** Whether one of them is being answered on this connection. */
  isOn(socket: ServerResponse['socket']): boolean {
    return this.#places.some(({ res }) => res.socket === socket)
  }

  *[Symbol.iterator](): Generator<ServerResponse> {
    for (const { res } of this.#places) yield res
  }
}
