// The rules of all opcodes, by file. See HloRule.

// movement.c
HLO_RULE(hlo_rule_broadcast);
HLO_RULE(hlo_rule_reshape);
HLO_RULE(hlo_rule_transpose);
HLO_RULE(hlo_rule_reverse);
HLO_RULE(hlo_rule_slice);
HLO_RULE(hlo_rule_concatenate);
HLO_RULE(hlo_rule_pad);
HLO_RULE(hlo_rule_dynamic_slice);
HLO_RULE(hlo_rule_dynamic_update_slice);
HLO_RULE(hlo_rule_iota);
HLO_RULE(hlo_rule_bitcast);
HLO_RULE(hlo_rule_bitcast_convert);

// control.c
HLO_RULE(hlo_rule_elementwise);
HLO_RULE(hlo_rule_select);
HLO_RULE(hlo_rule_clamp);
HLO_RULE(hlo_rule_constant);
HLO_RULE(hlo_rule_tuple);
HLO_RULE(hlo_rule_first_operand);
HLO_RULE(hlo_rule_after_all);
HLO_RULE(hlo_rule_call);
HLO_RULE(hlo_rule_conditional);
HLO_RULE(hlo_rule_while);

// region.c
HLO_RULE(hlo_rule_map);

// reduce.c
HLO_RULE(hlo_rule_reduce);
HLO_RULE(hlo_rule_reduce_window);
HLO_RULE(hlo_rule_select_and_scatter);

// contract.c
HLO_RULE(hlo_rule_dot);
HLO_RULE(hlo_rule_convolution);

// ragged_dot.c
HLO_RULE(hlo_rule_ragged_dot);
HLO_RULE(hlo_rule_scaled_dot);

// gather.c
HLO_RULE(hlo_rule_gather);
HLO_RULE(hlo_rule_scatter);

// sort.c
HLO_RULE(hlo_rule_sort);
HLO_RULE(hlo_rule_topk);

// linalg.c
HLO_RULE(hlo_rule_cholesky);
HLO_RULE(hlo_rule_triangular_solve);
HLO_RULE(hlo_rule_fft);
HLO_RULE(hlo_rule_rng_bit_generator);

// custom_call.c
HLO_RULE(hlo_rule_custom_call);

// collectives.c
HLO_RULE(hlo_rule_collective);
HLO_RULE(hlo_rule_collective_done);
HLO_RULE(hlo_rule_device_id);

// channels.c
HLO_RULE(hlo_rule_send);
HLO_RULE(hlo_rule_send_done);
HLO_RULE(hlo_rule_recv);
HLO_RULE(hlo_rule_recv_done);
HLO_RULE(hlo_rule_infeed);
HLO_RULE(hlo_rule_outfeed);

// manual.c
HLO_RULE(hlo_rule_global_to_local);
HLO_RULE(hlo_rule_local_to_global);

// dynamic.c
HLO_RULE(hlo_rule_set_dimension_size);
HLO_RULE(hlo_rule_get_dimension_size);
HLO_RULE(hlo_rule_dynamic_reshape);

// async.c
HLO_RULE(hlo_rule_async_start);
HLO_RULE(hlo_rule_async_update);
HLO_RULE(hlo_rule_async_done);
HLO_RULE(hlo_rule_copy_start);
HLO_RULE(hlo_rule_copy_done);

// batch_norm.c
HLO_RULE(hlo_rule_batch_norm_training);
HLO_RULE(hlo_rule_batch_norm_inference);
HLO_RULE(hlo_rule_batch_norm_grad);

// random.c
HLO_RULE(hlo_rule_rng);
HLO_RULE(hlo_rule_rng_get_and_update_state);

// scan.c
HLO_RULE(hlo_rule_scan);
