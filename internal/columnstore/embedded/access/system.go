package access

// shown has the system tables that the client programs of analysts need to complete names and to look up types.
var shown = []string{
	"aggregate_function_combinators", "build_options", "collations", "columns", "completions", "contributors", "current_roles",
	"data_skipping_indices", "data_type_families", "database_engines", "databases", "dictionaries", "documentation", "enabled_roles",
	"formats", "functions", "grants", "keywords", "licenses", "numbers", "numbers_mt", "one", "parts", "parts_columns", "primes",
	"privileges", "settings", "table_engines", "table_functions", "tables", "time_zones", "tokenizers", "unicode", "view_refreshes",
	"zeros", "zeros_mt",
}

// hidden has the system tables with rows about the machine, or about queries or objects of other users. The test
// TestEverySystemTableIsShownOrHidden finds tables that a new version of the engine adds.
var hidden = []string{
	"asynchronous_inserts", "asynchronous_loader", "azure_queue_metadata_cache", "azure_queue_settings", "background_schedule_pool",
	"backups", "certificates", "clusters", "codecs", "constraints", "dashboards", "data_skipping_index_types", "database_replicas",
	"detached_parts", "detached_tables", "dictionary_layouts", "dictionary_sources", "dimensional_metrics", "disk_types", "disks",
	"distributed_ddl_queue", "distribution_queue", "dns_cache", "dropped_tables", "dropped_tables_parts", "errors", "events",
	"fail_points", "filesystem_cache", "filesystem_cache_settings", "graphite_retentions", "histogram_metrics", "hypothetical_indexes",
	"iceberg_files", "iceberg_history", "jemalloc_bins", "jemalloc_profile_text", "jemalloc_stats", "kafka_consumers", "macros",
	"masking_policies", "merge_tree_settings", "merges", "metrics", "models", "moves", "mutations", "named_collections",
	"part_moves_between_shards", "processes", "projection_parts", "projection_parts_columns", "projections", "query_cache",
	"query_condition_cache", "quota_limits", "quota_usage", "quotas", "quotas_usage", "remote_data_paths", "replicas",
	"replicated_fetches", "replicated_merge_tree_settings", "replication_queue", "resources", "rocksdb", "role_grants", "roles",
	"row_policies", "s3_queue_settings", "s3queue_metadata_cache", "scheduler", "schema_inference_cache", "server_settings",
	"settings_changes", "settings_profile_elements", "settings_profiles", "stack_trace", "storage_policies", "symbols",
	"user_defined_functions", "user_directories", "user_processes", "users", "warnings", "workloads",
	// These tables exist only if the engine's configuration file defines logs.
	"asynchronous_insert_log", "asynchronous_metric_log", "asynchronous_metrics", "backup_log", "crash_log", "error_log", "metric_log",
	"opentelemetry_span_log", "part_log", "processors_profile_log", "query_log", "query_metric_log", "query_thread_log", "query_views_log",
	"session_log", "text_log", "trace_log", "zookeeper", "zookeeper_log",
}
