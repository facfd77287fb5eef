-- The tables of each generation: see Generation.

--- v0.5.0 has the tables of every generation, and those of runtimes that keep more than events
CREATE TABLE `session` (`id` text NOT NULL,`name` text,`user_id` text,`created_at` datetime,`updated_at` datetime,`deleted_at` datetime,`agent_id` text,PRIMARY KEY (`id`,`user_id`));
CREATE TABLE `task` (`id` text NOT NULL,`created_at` datetime,`updated_at` datetime,`deleted_at` datetime,`data` text NOT NULL,`session_id` text,PRIMARY KEY (`id`));
CREATE TABLE `event` (`id` text NOT NULL,`session_id` text,`user_id` text NOT NULL,`created_at` datetime,`updated_at` datetime,`deleted_at` datetime,`data` text NOT NULL,PRIMARY KEY (`id`,`user_id`));
CREATE INDEX `idx_session_deleted_at` ON `session`(`deleted_at`);
CREATE INDEX `idx_session_agent_id` ON `session`(`agent_id`);
CREATE INDEX `idx_session_name` ON `session`(`name`);
CREATE INDEX `idx_task_deleted_at` ON `task`(`deleted_at`);
CREATE INDEX `idx_event_deleted_at` ON `event`(`deleted_at`);
CREATE INDEX `idx_event_session_id` ON `event`(`session_id`);
CREATE TABLE `agent` (`id` text,`created_at` datetime,`updated_at` datetime,`deleted_at` datetime,`type` text,`config` json,PRIMARY KEY (`id`));
CREATE TABLE `push_notification` (`id` text NOT NULL,`task_id` text NOT NULL,`created_at` datetime,`updated_at` datetime,`deleted_at` datetime,`data` text NOT NULL,PRIMARY KEY (`id`));
CREATE TABLE `lg_checkpoint` (`user_id` text,`thread_id` text,`checkpoint_ns` text DEFAULT '',`checkpoint_id` text,`parent_checkpoint_id` text,`created_at` datetime,`updated_at` datetime,`deleted_at` datetime,`metadata` text NOT NULL,`checkpoint` text NOT NULL,`checkpoint_type` text NOT NULL,`version` integer DEFAULT 1,PRIMARY KEY (`user_id`,`thread_id`,`checkpoint_ns`,`checkpoint_id`));
CREATE TABLE `lg_checkpoint_write` (`user_id` text,`thread_id` text,`checkpoint_ns` text DEFAULT '',`checkpoint_id` text,`write_idx` integer,`value` text NOT NULL,`value_type` text NOT NULL,`channel` text NOT NULL,`task_id` text NOT NULL,`created_at` datetime,`updated_at` datetime,`deleted_at` datetime,PRIMARY KEY (`user_id`,`thread_id`,`checkpoint_ns`,`checkpoint_id`,`write_idx`));
CREATE TABLE `crewai_agent_memory` (`user_id` text,`thread_id` text,`created_at` datetime,`updated_at` datetime,`deleted_at` datetime,`memory_data` text NOT NULL,PRIMARY KEY (`user_id`,`thread_id`));
CREATE TABLE `crewai_flow_state` (`user_id` text,`thread_id` text,`method_name` text,`created_at` datetime,`updated_at` datetime,`deleted_at` datetime,`state_data` text NOT NULL,PRIMARY KEY (`user_id`,`thread_id`,`method_name`));

--- v0.7.19
CREATE TABLE `memory` (`id` text,`agent_name` text,`user_id` text,`content` text,`embedding` F32_BLOB(768),`metadata` text,`created_at` datetime,`expires_at` datetime,`access_count` integer,PRIMARY KEY (`id`));

--- current has the columns that came when kagent had left SQLite
ALTER TABLE `session` ADD `source` text;
CREATE INDEX `idx_session_source` ON `session`(`source`);
ALTER TABLE `task` ADD `protocol_version` text;
ALTER TABLE `task` ADD `user_id` text;
ALTER TABLE `push_notification` ADD `protocol_version` text;
ALTER TABLE `agent` ADD `workload_type` text;
