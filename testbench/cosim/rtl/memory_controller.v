// SPDX-License-Identifier: MIT
// A memory controller of one bank with an open row. It serves one access of 8 bytes at a time; an access to another
// row takes ROW_CYCLES more. The storage has the timing of a synchronous SRAM: data one cycle after the address.
module memory_controller #(
    parameter ROW_CYCLES = 12,
    parameter ROW_BITS = 8  // words of a row, as a power of two
) (
    input             clk,
    input             reset,
    // Requests: accepted in a cycle in which valid and ready are high.
    input             request_valid,
    output            request_ready,
    input             request_write,
    input      [31:0] request_word,    // address / 8
    input      [63:0] request_data,
    input      [ 7:0] request_strobe,  // a bit per byte to be written
    // One response for each request, in order.
    output reg        response_valid,
    output     [63:0] response_data,
    // Storage.
    output            storage_enable,
    output            storage_write,
    output     [31:0] storage_word,
    output     [63:0] storage_data,
    output     [ 7:0] storage_strobe,
    input      [63:0] storage_read_data
);
  localparam IDLE = 2'd0, OPEN_ROW = 2'd1, ACCESS = 2'd2, ANSWER = 2'd3;

  reg [1:0] state;
  reg [7:0] waiting;
  reg       row_open;
  reg [31:0] row;
  reg       write;
  reg [31:0] word;
  reg [63:0] data;
  reg [7:0] strobe;

  assign request_ready  = state == IDLE;
  assign storage_enable = state == ACCESS;
  assign storage_write  = write;
  assign storage_word   = word;
  assign storage_data   = data;
  assign storage_strobe = strobe;
  assign response_data  = storage_read_data;

  always @(posedge clk) begin
    response_valid <= 1'b0;
    if (reset) begin
      state    <= IDLE;
      row_open <= 1'b0;
    end else begin
      case (state)
        IDLE:
        if (request_valid) begin
          write   <= request_write;
          word    <= request_word;
          data    <= request_data;
          strobe  <= request_strobe;
          waiting <= ROW_CYCLES;
          state   <= row_open && row == request_word >> ROW_BITS ? ACCESS : OPEN_ROW;
        end
        OPEN_ROW: begin
          waiting  <= waiting - 8'd1;
          row_open <= 1'b1;
          row      <= word >> ROW_BITS;
          if (waiting == 8'd1) state <= ACCESS;
        end
        ACCESS: state <= ANSWER;
        ANSWER: begin
          response_valid <= 1'b1;
          state          <= IDLE;
        end
      endcase
    end
  end
endmodule
