// Package column converts columns of an archive to the slices of ClickHouse's driver.
package column

import (
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Slice returns a column as a slice that the driver accepts for the ClickHouse type `kind`. A column of numbers that
// can be NULL becomes a slice of pointers. Slice fails for a type that no archive has.
func Slice(column arrow.Array, kind string) (any, error) {
	optional := len(kind) > 9 && kind[:9] == "Nullable("
	switch c := column.(type) {
	case *array.String:
		if !strings.Contains(kind, "String") && !strings.HasPrefix(kind, "Enum") { // a type that an export shows as text
			return nil, fmt.Errorf("a text is no value of %s", kind)
		}
		return plain(c, c.Value), nil
	case *array.Timestamp:
		return plain(c, func(i int) time.Time { return time.UnixMilli(int64(c.Value(i))).UTC() }), nil
	case *array.Date32:
		return plain(c, func(i int) time.Time { return c.Value(i).ToTime() }), nil
	case *array.Boolean:
		return plain(c, c.Value), nil
	case *array.Float64:
		return maybe(c, c.Value, optional), nil
	case *array.Float32:
		return maybe(c, c.Value, optional), nil
	case *array.Uint8:
		return maybe(c, c.Value, optional), nil
	case *array.Uint16:
		return maybe(c, c.Value, optional), nil
	case *array.Uint32:
		return maybe(c, c.Value, optional), nil
	case *array.Uint64:
		return maybe(c, c.Value, optional), nil
	case *array.Int32:
		return maybe(c, c.Value, optional), nil
	case *array.Int64:
		return maybe(c, c.Value, optional), nil
	case *array.List:
		switch items := c.ListValues().(type) {
		case *array.String:
			return lists(c, items.Value), nil
		case *array.Float64:
			return lists(c, items.Value), nil
		}
	}
	return nil, fmt.Errorf("the type %s is not one of an archive", column.DataType())
}

func lists[T any](c *array.List, value func(int) T) [][]T {
	return plain(c, func(i int) []T {
		from, to := c.ValueOffsets(i)
		list := make([]T, 0, to-from)
		for j := from; j < to; j++ {
			list = append(list, value(int(j)))
		}
		return list
	})
}

func plain[T any](c arrow.Array, value func(int) T) []T {
	all := make([]T, c.Len())
	for i := range all {
		all[i] = value(i)
	}
	return all
}

// maybe returns the values of a column. If `optional` is set, it returns pointers to the values, and nil for NULL.
func maybe[T any](c arrow.Array, value func(int) T, optional bool) any {
	if !optional {
		return plain(c, value)
	}
	return plain(c, func(i int) *T {
		if c.IsNull(i) {
			return nil
		}
		v := value(i)
		return &v
	})
}
