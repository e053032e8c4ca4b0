package session

import (
	"fmt"
	"strconv"
	"strings"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
)

// temporaryBytes is the query for the memory of a connection's temporary tables. An empty table of 300 columns, with a
// definition of 11 kB, needs 0.9 MB. The query therefore counts each byte of a definition as 100 bytes. Its SETTINGS
// clause overrides settings of the session that would make the result wrong.
const temporaryBytes = `SELECT ifNull(sum(total_bytes + 100 * length(create_table_query)), 0) FROM system.tables WHERE database = ''
SETTINGS additional_table_filters = {}, additional_result_filter = '', use_query_cache = 0, limit = 0, offset = 0,
	max_rows_to_read_leaf = 0, max_bytes_to_read_leaf = 0, extremes = 0`

const codeMemoryLimit = 241

// Stored checks the memory that an analyst's session keeps after a statement. Queries have limits of their own, but a
// temporary table outlives its query, even a failed query. Above a limit (see within), it ends the session and fails.
func (s *Session) Stored(verb, text string) error {
	if s.named == nil || s.key.User != access.Analyst || s.bad.Load() {
		return nil
	}
	switch verb {
	case "CREATE", "INSERT", "DROP":
		value, err := s.Value(temporaryBytes)
		if err != nil {
			s.End()
			return fmt.Errorf("measuring the temporary tables of the session: %w", err)
		}
		s.named.tables, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil {
			s.End()
			return fmt.Errorf("measuring the temporary tables of the session: %w", err)
		}
	case "SET":
		s.named.settings += int64(len(text)) // parameters are settings of any length
	default:
		return nil
	}
	return s.named.of.within(s.named)
}

// within ends `s` and returns an error if `s` uses more than half of the memory limit. It does the same if all sessions
// of analysts together exceed the limit. The settings of a request count twice, because this process and the engine
// each keep a copy.
func (n *named) within(s *namedSession) error {
	limit := n.pool.temporary
	if limit == 0 || s.key.user != access.Analyst {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s.bytes = s.tables + s.settings + 2*int64(len(s.applied))
	var sum int64
	for key, other := range n.all {
		if key.user == s.key.user {
			sum += other.bytes
		}
	}
	switch {
	case s.bytes > limit/2:
		s.session.End()
		return tooLarge("of this session", s.bytes, "one session", limit/2)
	case sum > limit:
		s.session.End()
		return tooLarge("of all sessions", sum, "all sessions together", limit)
	}
	return nil
}

func tooLarge(whose string, bytes int64, of string, limit int64) error {
	return chdb.NewException(codeMemoryLimit, "MEMORY_LIMIT_EXCEEDED",
		"The temporary tables and settings %s need %d bytes of memory. The limit of %s is %d bytes (engine.analysts.max-temporary). This session has ended, with its tables",
		whose, bytes, of, limit)
}
