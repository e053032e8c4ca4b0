package columnstore

import (
	"iter"
	"net/url"
)

// namesBytes limits the names in one request, in bytes. A parameter of a query is part of the request's URL.
// Servers limit the length of a URL (http_max_uri_size, 1 MiB).
const namesBytes = 512 << 10

// NameGroups splits names, in their order, into groups. Each group fits into a parameter of type Array(String).
func NameGroups(names []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		first, size := 0, 0
		for i, name := range names {
			length := len(url.QueryEscape(name)) + len("%27%27%2C")
			if size+length > namesBytes && i > first {
				if !yield(names[first:i]) {
					return
				}
				first, size = i, 0
			}
			size += length
		}
		if first < len(names) {
			yield(names[first:])
		}
	}
}
