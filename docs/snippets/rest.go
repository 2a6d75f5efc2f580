// The service from Go's standard library.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

type Item struct {
	ID       int     `json:"id"`
	Name     string  `json:"name"`
	Price    float64 `json:"price"`
	Category *string `json:"category"`
}

func call(method, path string, in, out any) (int, error) {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return 0, err
		}
	}
	base := os.Getenv("BASE_URL")
	if base == "" {
		base = "http://127.0.0.1:3000"
	}
	request, err := http.NewRequest(method, base+path, &body)
	if err != nil {
		return 0, err
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return response.StatusCode, json.NewDecoder(response.Body).Decode(out)
}

func main() {
	var created struct{ Item Item }
	status, err := call("POST", "/items/", map[string]any{"name": "Lamp", "price": 24.5}, &created)
	if err != nil {
		panic(err)
	}
	var items []Item
	if _, err = call("GET", "/items?price_lt=30", nil, &items); err != nil {
		panic(err)
	}
	var failure struct{ Message string }
	missing, err := call("GET", "/items/99", nil, &failure)
	if err != nil {
		panic(err)
	}
	fmt.Println(status, created.Item.ID, items[0].Name, missing, failure.Message)
}
