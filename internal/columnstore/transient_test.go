package columnstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/config"
)

// Each number has ClickHouse's name for it.
func TestTransientCodesHaveClickHouseNames(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	for _, code := range columnstore.TransientCodes() {
		var got string
		if err := db.Conn().QueryRow(t.Context(), fmt.Sprintf("SELECT errorCodeToName(%d)", int32(code))).Scan(&got); err != nil || got != code.String() {
			t.Errorf("%d is %q (%v), want %q", int32(code), got, err, code.String())
		}
	}
}

func TestTransient(t *testing.T) {
	t.Parallel()
	_, password := columnstoretest.Access(t)
	away := server(t, columnstore.Config{DSN: config.DSN("http://default:" + password + "@" + refusingAddress(t) + "/")})
	native := server(t, columnstore.Config{DSN: config.DSN("clickhouse://default@" + refusingAddress(t) + "/")})
	db := columnstoretest.New(t)
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"a server that is away":        {away.Conn().Exec(t.Context(), "SELECT 1"), true},
		"the same, natively":           {native.Conn().Exec(t.Context(), "SELECT 1"), true},
		"a node is unavailable":        {fmt.Errorf("statement 1: %w", &clickhouse.Exception{Code: 159, Message: "Distributed DDL task is not finished"}), true},
		"time that ran out":            {context.DeadlineExceeded, true},
		"a proxy whose server is away": {&clickhouse.HTTPError{StatusCode: 502}, true},
		"a proxy that refuses":         {&clickhouse.HTTPError{StatusCode: 403}, false},
		"a statement that cannot be":   {db.Conn().Exec(t.Context(), "SELEC 1"), false},
		"a table of another kind":      {&clickhouse.Exception{Code: 57}, false},
		"a mistake of this program":    {errors.New("template"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := columnstore.Transient(c.err); c.err == nil || got != c.want {
				t.Errorf("%v passes: %v, want %v", c.err, got, c.want)
			}
		})
	}
}
