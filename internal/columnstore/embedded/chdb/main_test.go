package chdb_test

import (
	"testing"

	"vayu/internal/columnstore/columnstoretest"
)

// TestMain names the folder of the library.
func TestMain(m *testing.M) { columnstoretest.Main(m) }
