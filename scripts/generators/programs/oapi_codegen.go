// The client of oapi-codegen. Argument: the service's base URL.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"

	"example.com/client/generated"
)

func main() {
	ctx := context.Background()
	client, err := generated.NewClientWithResponses(os.Args[1])
	check(err)

	// Create
	created, err := client.CreateItemWithResponse(ctx, nil, generated.CreateItemBody{Name: "Rug", Price: 16777217.25})
	check(err)
	rug := created.JSON201.Item
	equal(rug, generated.Item{Id: 1, Name: "Rug", Price: 16777217.25})

	// Bulk create
	lighting := "lighting"
	var bodies []generated.ItemCreate
	for n := 1; n <= 5; n++ {
		name := fmt.Sprintf("Lamp %d", n)
		bodies = append(bodies, generated.ItemCreate{Name: name, Price: float64(n), Category: &lighting})
	}
	lamps, err := client.CreateItemsWithResponse(ctx, nil, bodies)
	check(err)
	equal(len(*lamps.JSON201), 5)

	// List with a filter and a cursor
	next := regexp.MustCompile(`[?&]after=([\w-]+)>; rel="next"`)
	limit := int64(2)
	var names []string
	pages := 0
	for after, more := "", true; more; pages++ {
		params := generated.ListItemsParams{Category: &lighting, Limit: &limit, After: &after}
		page, err := client.ListItemsWithResponse(ctx, &params)
		check(err)
		for _, item := range *page.JSON200 {
			names = append(names, item.Name)
		}
		link := next.FindStringSubmatch(page.HTTPResponse.Header.Get("Link"))
		if more = link != nil; more {
			after = link[1]
		}
	}
	equal(names, []string{"Lamp 1", "Lamp 2", "Lamp 3", "Lamp 4", "Lamp 5"})
	equal(pages, 3)

	// Get with an ETag
	id := int64(rug.Id)
	read, err := client.GetItemWithResponse(ctx, id, nil)
	check(err)
	equal(*read.JSON200, rug)
	etag := read.HTTPResponse.Header.Get("ETag")
	equal(strings.HasPrefix(etag, `"1-`), true)

	// Conditional update
	price := 30.0
	params := generated.UpdateItemParams{IfMatch: &etag}
	changed, err := client.UpdateItemWithResponse(ctx, id, &params, generated.UpdateItemBody{Price: &price})
	check(err)
	equal(changed.JSON200.Price, 30.0)
	stale, err := client.UpdateItemWithResponse(ctx, id, &params, generated.UpdateItemBody{Price: &price})
	check(err)
	equal(strings.HasPrefix(stale.JSON412.Message, "Item has changed"), true)

	// Validation error
	invalid, err := client.CreateItemWithResponse(ctx, nil, generated.CreateItemBody{Name: "", Price: 1})
	check(err)
	equal(invalid.JSON400.Message, "name: must be text of 1 to 200 characters")

	// Delete
	deleted, err := client.DeleteItemWithResponse(ctx, id, nil)
	check(err)
	equal(deleted.JSON200.Message, "Item deleted")
	missing, err := client.GetItemWithResponse(ctx, id, nil)
	check(err)
	equal(missing.JSON404.Message, "Item not found")

	fmt.Println("ok")
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func equal(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		panic(fmt.Sprintf("%v must be %v", actual, expected))
	}
}
