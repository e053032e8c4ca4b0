package columnstore

import (
	"time"

	"vayu/internal/columnstore/embedded"
	"vayu/internal/config"
)

// Analysts are the limits of the user "analyst" of the embedded engine. A query can lower its own limits. All analysts
// together use at most MaxQueries times MaxMemory, plus MaxTemporary. A limit of 0 means no limit, except that 0 means
// 1 for MaxQueries and MaxRows.
type Analysts struct {
	// MaxMemory limits the memory of one query.
	MaxMemory config.Size `yaml:"max-memory" help:"memory that one query of the user analyst may use"`
	// MaxTime limits the duration of one query.
	MaxTime time.Duration `yaml:"max-time" help:"how long one query of the user analyst may run"`
	// MaxRows limits the rows of one result.
	MaxRows int `yaml:"max-rows" help:"rows that one result of the user analyst may have"`
	// MaxQueries limits the concurrent queries. They share half of the processors, and each query has at least one. A
	// machine with two processors therefore runs one query at a time. A query waits up to 30 s, and is then rejected.
	MaxQueries int `yaml:"max-queries" help:"concurrent queries of the user analyst"`
	// MaxTemporary limits the memory of the temporary tables of all sessions. One session may use half of it.
	MaxTemporary config.Size `yaml:"max-temporary" help:"memory that the temporary tables of all sessions of the user analyst may use"`
}

// DefaultAnalysts returns limits for a machine of 16 GiB that also serves Vayu. A query over ten years of hourly data
// of India needs less than 2 GiB. Two queries share half of the processors, and leave the other half to the service.
func DefaultAnalysts() Analysts {
	return Analysts{MaxMemory: 2 * config.GiB, MaxTime: time.Minute, MaxRows: 10_000_000, MaxQueries: 2, MaxTemporary: config.GiB}
}

func (a Analysts) limits(databases, private []string) embedded.Limits {
	return embedded.Limits{
		Databases: databases, Private: private, Memory: int64(a.MaxMemory), Time: a.MaxTime, Rows: uint64(max(1, a.MaxRows)), Queries: a.MaxQueries,
		Temporary: int64(a.MaxTemporary),
	}
}
