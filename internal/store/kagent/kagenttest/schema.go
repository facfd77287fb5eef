package kagenttest

import "slices"

// Generation is which tables and columns a database has.
type Generation string

// The generations. Current has the columns of PostgreSQL's migrations up to
// v0.10.0, as SQLite would have them.
const (
	V05     Generation = "v0.5.0"
	V07     Generation = "v0.7.19"
	Current Generation = "current"
)

const (
	saved = "`created_at` datetime,`updated_at` datetime,`deleted_at` datetime"

	sessions = "CREATE TABLE `session` (`id` text NOT NULL,`name` text,`user_id` text," + saved + ",`agent_id` text,PRIMARY KEY (`id`,`user_id`))"
	tasks    = "CREATE TABLE `task` (`id` text NOT NULL," + saved + ",`data` text NOT NULL,`session_id` text,PRIMARY KEY (`id`))"
	events   = "CREATE TABLE `event` (`id` text NOT NULL,`session_id` text,`user_id` text NOT NULL," + saved + ",`data` text NOT NULL,PRIMARY KEY (`id`,`user_id`))"
)

// base are the tables that every generation has.
var base = []string{
	sessions, tasks, events,
	"CREATE INDEX `idx_session_deleted_at` ON `session`(`deleted_at`)",
	"CREATE INDEX `idx_session_agent_id` ON `session`(`agent_id`)",
	"CREATE INDEX `idx_session_name` ON `session`(`name`)",
	"CREATE INDEX `idx_task_deleted_at` ON `task`(`deleted_at`)",
	"CREATE INDEX `idx_event_deleted_at` ON `event`(`deleted_at`)",
	"CREATE INDEX `idx_event_session_id` ON `event`(`session_id`)",
	"CREATE TABLE `agent` (`id` text," + saved + ",`type` text,`config` json,PRIMARY KEY (`id`))",
	"CREATE TABLE `push_notification` (`id` text NOT NULL,`task_id` text NOT NULL," + saved + ",`data` text NOT NULL,PRIMARY KEY (`id`))",
}

// states are the tables of runtimes that keep more than events.
var states = []string{
	"CREATE TABLE `lg_checkpoint` (`user_id` text,`thread_id` text,`checkpoint_ns` text DEFAULT '',`checkpoint_id` text,`parent_checkpoint_id` text," + saved +
		",`metadata` text NOT NULL,`checkpoint` text NOT NULL,`checkpoint_type` text NOT NULL,`version` integer DEFAULT 1," +
		"PRIMARY KEY (`user_id`,`thread_id`,`checkpoint_ns`,`checkpoint_id`))",
	"CREATE TABLE `lg_checkpoint_write` (`user_id` text,`thread_id` text,`checkpoint_ns` text DEFAULT '',`checkpoint_id` text,`write_idx` integer," +
		"`value` text NOT NULL,`value_type` text NOT NULL,`channel` text NOT NULL,`task_id` text NOT NULL," + saved +
		",PRIMARY KEY (`user_id`,`thread_id`,`checkpoint_ns`,`checkpoint_id`,`write_idx`))",
	"CREATE TABLE `crewai_agent_memory` (`user_id` text,`thread_id` text," + saved + ",`memory_data` text NOT NULL,PRIMARY KEY (`user_id`,`thread_id`))",
	"CREATE TABLE `crewai_flow_state` (`user_id` text,`thread_id` text,`method_name` text," + saved +
		",`state_data` text NOT NULL,PRIMARY KEY (`user_id`,`thread_id`,`method_name`))",
	"CREATE TABLE `memory` (`id` text,`agent_name` text,`user_id` text,`content` text,`embedding` F32_BLOB(768),`metadata` text," +
		"`created_at` datetime,`expires_at` datetime,`access_count` integer,PRIMARY KEY (`id`))",
}

// later are the columns that came when kagent had left SQLite.
var later = []string{
	"ALTER TABLE `session` ADD `source` text",
	"CREATE INDEX `idx_session_source` ON `session`(`source`)",
	"ALTER TABLE `task` ADD `protocol_version` text",
	"ALTER TABLE `task` ADD `user_id` text",
	"ALTER TABLE `push_notification` ADD `protocol_version` text",
	"ALTER TABLE `agent` ADD `workload_type` text",
}

func (g Generation) schema() []string {
	switch g {
	case V05:
		return slices.Concat(base, states[:4])
	case V07:
		return slices.Concat(base, states)
	}
	return slices.Concat(base, states, later)
}
